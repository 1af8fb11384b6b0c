printf ' \n\n ' >model/config.json
