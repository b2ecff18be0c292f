import { describeHostileProgram, describeInvalidOnly } from './testing/describe-hostile-program.js';

describeHostileProgram({
  seeds: [1],
  endings: [['in the middle of a message', Buffer.from('{"jsonrpc":"2.0","method":"session/upd')]],
});
describeInvalidOnly();
