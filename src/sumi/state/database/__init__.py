"""What the SQLite and LMDB backends share: everything except reading and writing rows."""
