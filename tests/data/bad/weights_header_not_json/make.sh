put_header 'hidden_size=64'
