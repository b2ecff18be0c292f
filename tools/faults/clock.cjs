// Loaded into a server before its own code: shifts the wall clock by the number of milliseconds in
// a file.
const { readFileSync } = require('node:fs');

const file = process.env.BELAY_FAULTS_CLOCK;
const Real = Date;
let offset = 0;

function read() {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // The file is not written yet.
  }
}

globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + offset);
    else super(...given);
  }
  static now() {
    return Real.now() + offset;
  }
};
if (file) {
  read();
  setInterval(read, 50).unref();
}
