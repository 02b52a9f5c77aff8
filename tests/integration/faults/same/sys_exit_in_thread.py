# SPDX-License-Identifier: Apache-2.0
"""sys.exit in a thread ends only the thread."""
import sys
import threading

thread = threading.Thread(target=sys.exit, args=(9,))
thread.start()
thread.join()
print("still here")
sys.exit(5)
