printf 'null' >model/config.json
