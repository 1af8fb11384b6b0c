put_header '[1, 2]'
