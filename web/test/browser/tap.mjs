// SPDX-License-Identifier: Apache-2.0
// Runs tests one after the other and prints TAP: a test is a name and a function that throws.
export class Tap {
  count = 0;
  failed = 0;

  say(line) {
    console.log(line);
  }

  async run(group, tests, browser, pages) {
    for (const [name, test] of Object.entries(tests)) {
      this.count++;
      const begun = Date.now();
      try {
        await test(browser, pages);
        this.say(`ok ${this.count} - ${group}: ${name} # ${Date.now() - begun} ms`);
      } catch (error) {
        this.failed++;
        this.say(`not ok ${this.count} - ${group}: ${name}`);
        for (const line of String(error.stack ?? error)
          .split("\n")
          .slice(0, 12))
          this.say(`# ${line}`);
      }
    }
  }

  finish() {
    this.say(`1..${this.count}`);
    return this.failed === 0;
  }
}
