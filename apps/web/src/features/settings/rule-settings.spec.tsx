import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { AppError, sessionDefaults, type Rule } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import { RuleSettings } from './rule-settings';

const rule = (part: Partial<Rule> = {}): Rule => ({
  id: 'rule-1',
  scope: 'all',
  operation: 'terminal.run',
  pattern: 'npm test *',
  verdict: 'approved',
  expires: null,
  created: '2026-01-01T00:00:00Z',
  uses: 3,
  ...part,
});

/** Renders the page with a server that stores the rules. */
const show = (rules: Rule[] = []) =>
  renderWeb(<RuleSettings />, {
    replies: {
      settings: { read: () => sessionDefaults.parse({}) },
      mcp: { list: () => [] },
      rules: {
        list: () => [...rules],
        preview: ({ body }) => ({ matches: body.pattern === '*' ? 1 : 7, examples: [] }),
        create: ({ body }) => {
          if (body.pattern === 'twice') throw new AppError('conflict', 'There is such a rule.');
          const made = rule({ ...body, id: 'made' });
          rules.push(made);
          return made;
        },
        remove: ({ params }) => {
          rules.splice(
            rules.findIndex(({ id }) => id === params.rule),
            1,
          );
        },
      },
    },
  });
const choose = async (label: RegExp, value: string) =>
  fireEvent.change(await screen.findByLabelText(label), { target: { value } });
const click = async (name: string) => fireEvent.click(await screen.findByRole('button', { name }));

describe('the rules', () => {
  it('show their decision, scope and number of uses', async () => {
    await show([
      rule(),
      rule({ id: 'rule-2', verdict: 'rejected', scope: 'workspace', pattern: 'rm *', uses: 1 }),
    ]);
    const [first, second] = (await screen.findAllByRole('listitem')).map(
      ({ textContent }) => textContent,
    );
    expect(first).toMatch(/^Allow terminal\.run npm test \*everywhere · used 3 times · /);
    expect(second).toMatch(/^Deny terminal\.run rm \*in one workspace · used 1 time · /);
  });

  it('are revoked one by one', async () => {
    const { rest } = await show([rule(), rule({ id: 'rule-2', pattern: 'rm *' })]);
    const line = (await screen.findByText('rm *')).closest('li');
    if (!line) throw new Error('No line.');
    fireEvent.click(within(line).getByRole('button', { name: 'Revoke' }));
    await waitFor(() => expect(screen.queryByText('rm *')).toBeNull());
    screen.getByText('npm test *');
    expect(rest.sentTo('rules.remove')).toMatchObject([{ params: { rule: 'rule-2' } }]);
    await screen.findByText('Revoked. You’ll be asked again.');
  });
});

describe('the form for a new rule', () => {
  it('previews the matches and creates the rule', async () => {
    const { rest } = await show();
    await screen.findByText('No rules');
    await choose(/^Decision/, 'rejected');
    await choose(/^Operation/, 'egress');
    await choose(/^Pattern/, '*.example:443');
    await screen.findByText('Would match 7 past calls.');
    await choose(/^Pattern/, '*');
    await screen.findByText('Would match 1 past call.');
    await click('Create rule');
    await screen.findByText('Rule created.');
    const made = {
      scope: 'all',
      operation: 'egress',
      pattern: '*',
      verdict: 'rejected',
      expires: null,
    };
    expect(rest.bodiesOf('rules.create')).toEqual([made]);
    expect(rest.bodiesOf('rules.preview').at(-1)).toEqual(made);
    expect((await screen.findByRole('listitem')).textContent).toMatch(/^Deny egress \*everywhere/);
    expect(screen.getByLabelText(/^Pattern/)).toHaveProperty('value', '');
    expect(screen.queryByText(/^Would match/)).toBeNull();
  });

  it('offers every operation that can need approval, and connections', async () => {
    await show();
    const options = within(await screen.findByLabelText(/^Operation/)).getAllByRole('option');
    const names = options.map(({ textContent }) => textContent);
    expect(names).toEqual(expect.arrayContaining(['egress', 'terminal.run', 'browser.open']));
    expect(names).not.toContain('files.read');
  });

  it('creates nothing without a pattern', async () => {
    const { rest } = await show();
    await click('Create rule');
    expect(rest.sentTo('rules.create')).toEqual([]);
  });

  it('keeps the input and shows the error when the server refuses it', async () => {
    await show();
    await choose(/^Pattern/, 'twice');
    await click('Create rule');
    await screen.findByText('There is such a rule.');
    expect(screen.getByLabelText(/^Pattern/)).toHaveProperty('value', 'twice');
  });
});
