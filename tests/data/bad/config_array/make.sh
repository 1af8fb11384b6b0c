printf '[]' >model/config.json
