import { describeHostileMegabytes } from './testing/describe-hostile-megabytes.js';

describeHostileMegabytes(['\x1b[999999999Cx', '\n', '\x1b[L\x1b[999@x', '\x1b[31mx']);
