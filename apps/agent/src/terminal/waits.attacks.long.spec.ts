import { describeFloods } from './testing/describe-floods.js';

describeFloods([
  ['begun colours', '\\033['],
  ['colours', '\\033[0;'],
  ['long titles', `\\033]${'x'.repeat(900)}`],
  ['long colours', `\\033[${'0'.repeat(90)}   `],
]);
