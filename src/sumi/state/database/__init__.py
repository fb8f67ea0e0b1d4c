"""What the backends on an embedded database share: everything but how a row is read and written."""
