# SPDX-License-Identifier: Apache-2.0
from flask import Flask, jsonify

VERSION = 1
app = Flask(__name__)


@app.get("/version")
def version():
    return str(VERSION)


@app.get("/<int:number>")
def squares(number):
    return jsonify(sum=sum(i * i for i in range(number)))


@app.get("/fail")
def fail():
    raise ValueError("as asked")
