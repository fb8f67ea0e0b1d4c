"""The link terrain around chosen domains, as a database, exports and a picture."""
