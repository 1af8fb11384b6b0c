rm -r model && : >model
