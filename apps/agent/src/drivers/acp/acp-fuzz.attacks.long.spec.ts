import { describeHostileProgram } from './testing/describe-hostile-program.js';

describeHostileProgram({
  seeds: [2, 3, 4, 5, 6],
  endings: [
    ['after a line without end', Buffer.alloc(20_000_000, '{')],
    [
      'after many invalid messages',
      Buffer.from('{"jsonrpc":"2.0","id":9,"result":1}\n'.repeat(100)),
    ],
  ],
});
