import { stripAnsi } from './strip-ansi';

it.each([
  ['\u001b[1;31mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007$ ls\r\na', '$ ls\na'],
  ['10%\r50%\r100%', '100%'],
  ['done\r', 'done'],
  ['\u001b[?2004hok\u001b[?25l', 'ok'],
])('%j reads %j', (raw, text) => {
  expect(stripAnsi(raw)).toBe(text);
});
