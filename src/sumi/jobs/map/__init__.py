"""The links around chosen domains, as a database, exports and a picture."""
