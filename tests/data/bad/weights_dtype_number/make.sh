header 's/"F32"/32/'
