import { ownEnvironment } from './environment.js';
import { startProgram } from './start-program.js';

void startProgram(process.argv.slice(2), ownEnvironment()).then((code) => process.exit(code));
