import type { ApprovalRequest } from '@belay/protocol';
import { OpenQuestion } from './open-question.js';
import { Composer } from './composer.js';
import { Pane } from './pane.js';
import { cut, questionRows } from './question-rows.js';

const call = (id: string): ApprovalRequest => ({
  id,
  operation: 'terminal.run',
  input: {},
  risk: 'execute',
  subject: 'echo',
});

describe('what a session asks', () => {
  it('is answered by no key that was pressed before it was read', () => {
    let now = 0;
    const asked = new OpenQuestion(() => now);
    asked.see({ waitingFor: [call('a')], question: null });
    expect(asked.mayAnswer).toBe(false);
    now = 701;
    expect(asked.mayAnswer).toBe(true);
    asked.see({ waitingFor: [call('a'), call('b')], question: null });
    expect(asked.mayAnswer).toBe(true);
    asked.see({ waitingFor: [call('b')], question: null });
    expect(asked.mayAnswer).toBe(false);
  });

  it('is shown whole as far as it fits, and what does not is counted', () => {
    const request = { ...call('a'), subject: `${'x'.repeat(25)}\nrm -rf /\nmore\nmore` };
    const rows = questionRows({ request, question: null }, 12, 20).join('\n');
    expect(rows.match(/x/g)?.length).toBe(25);
    expect(questionRows({ request, question: null }, 40, 5).join('\n')).toContain('… 2 more lines');
  });
});

describe('the screen', () => {
  it('has rows of exactly their width, whatever is in them', async () => {
    expect(cut('日本語\u001b[2Jx', 5)).toBe('日本 ');
    const pane = new Pane(10, 2);
    await pane.write(
      'a\u001b]52;c;eA==\u0007日\u001b[31mred\u001b[0m\u202eabc\r\n\u001b[5n\u001b[c',
    );
    const [first = ''] = pane.rows(10, 2);
    // oxlint-disable-next-line no-control-regex
    expect(first.replaceAll(/\u001b\[[\d;]*m/g, '')).toMatch(/^a日red/);
    expect(first).toContain('\u001b[0;38;5;1mred');
    expect(first).not.toContain('\u202e');
    expect(first).not.toContain('\u001b]');
  });

  it('has a line to write in, where pasted lines stay lines', () => {
    const composer = new Composer();
    for (const sign of 'ab c') composer.press(sign, { name: sign });
    composer.press(undefined, { name: 'w', ctrl: true });
    composer.insert('x\r\ny');
    composer.press(undefined, { name: 'left' });
    composer.press(undefined, { name: 'backspace' });
    expect(composer.shown(20)).toEqual({ text: 'ab xy', column: 4 });
    expect(composer.take()).toBe('ab xy');
    expect(composer.text).toBe('');
  });
});
