"""Twenty connections at once, whose answers are kept in files."""

import asyncio
import hashlib
import json
import os
import urllib.parse

PEER = urllib.parse.urlsplit("@PEER@")


async def get(number):
    reader, writer = await asyncio.open_connection(PEER.hostname, PEER.port)
    writer.write(f"GET /item/{number} HTTP/1.1\r\nHost: peer\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()
    answer = await reader.read()
    writer.close()
    body = answer.split(b"\r\n\r\n", 1)[1]
    with open(f"item{number}.txt", "wb") as file:
        file.write(body)
    return number, len(body), hashlib.sha256(body).hexdigest()


async def main():
    answers = await asyncio.gather(*(get(number) for number in range(20)))
    for answer in answers:
        print(*answer)
    with open("answers.json", "w", encoding="utf-8") as file:
        json.dump(answers, file)


asyncio.run(main())
