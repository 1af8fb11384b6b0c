head -c 200 model/config.json >cut && mv cut model/config.json
