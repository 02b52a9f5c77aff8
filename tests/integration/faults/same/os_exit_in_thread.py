# SPDX-License-Identifier: Apache-2.0
"""os._exit from a thread while others run."""
import os
import threading
import time

threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
threading.Thread(target=lambda: (time.sleep(0.2), os._exit(7))).start()
while True:
    pass
