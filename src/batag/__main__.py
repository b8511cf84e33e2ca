"""`python -m batag`: the command line."""

from batag.cli import main

main()
