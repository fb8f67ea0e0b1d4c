"""What a user decides, wherever it was written: tables of settings; readers of files, variables and flags."""
