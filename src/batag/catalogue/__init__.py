"""Tag many pages: a resumable job that is split into parts, on the processes of one machine or on a cluster."""
