printf '12' >model/config.json
