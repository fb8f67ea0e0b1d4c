"""What users decide: tables of settings, and readers of files, environment variables and flags."""
