"""Many pages: a resumable job in parts, on the processes of one machine or on a cluster."""
