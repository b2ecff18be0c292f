import type { Message } from '@belay/protocol';
import { withOfferedNames } from './offered-names.js';

it('names operations as they are offered in what the platform says, and changes nothing else', () => {
  const result = (failed: boolean, output: object) => ({
    id: 'c1',
    operation: 'files.read',
    failed,
    images: [],
    output,
  });
  const guidance = '# Guidance of this workspace\n\nCall files.read() of our library.';
  const messages: Message[] = [
    { role: 'system', text: `Read with files.read.\n\n${guidance}` },
    { role: 'user', text: 'Why does web.fetch fail?', images: [] },
    { role: 'user', text: 'The user did this by hand: files.edit a', images: [] },
    { role: 'user', text: '[Belay, not the user] See web.search.\n> web.search', images: [] },
    {
      role: 'tool',
      results: [
        result(true, {
          code: 'conflict',
          message: '`files.list x` runs; wait with terminal.read.\n1\tfiles.read(a)',
        }),
        result(false, { content: 'files.read', note: 'files.read has no input.' }),
      ],
    },
  ];
  const sent = JSON.stringify(messages.map(withOfferedNames));
  expect(messages.map(withOfferedNames)[0]).toBe(messages.map(withOfferedNames)[0]);
  expect(sent).toContain('Read with files_read.');
  expect(sent).toContain('Call files.read() of our library.');
  expect(sent).toContain('by hand: files_edit a');
  expect(sent).toContain(String.raw`See web_search.\n> web.search`);
  expect(sent).toContain('Why does web.fetch fail?');
  expect(sent).toContain('`files.list x` runs; wait with terminal_read.');
  expect(sent).toContain('files.read(a)');
  expect(sent).toContain('files_read has no input.');
  expect(sent).toContain('"content":"files.read"');
});
