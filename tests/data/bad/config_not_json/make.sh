echo 'hidden_size = 64' >model/config.json
