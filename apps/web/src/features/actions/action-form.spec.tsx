import { fireEvent, screen, waitFor } from '@testing-library/react';
import { renderWeb } from '@/testing/render-web';
import { ActionForm } from './action-form';
import { ActionsPage } from './actions-page';

const output = { text: 'Sum: 9', errors: '', exitCode: 0, seconds: 1 };
const write = (label: RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const click = async (name: string | RegExp) =>
  fireEvent.click(await screen.findByRole('button', { name }));

describe('the form of an action', () => {
  it('has a field for each parameter and sends those that have a value', async () => {
    const parameters = {
      type: 'object' as const,
      required: ['count'],
      properties: {
        count: { type: 'integer', description: 'How many dice.' },
        color: { enum: ['red', 'blue'] },
        loaded: { type: 'boolean' },
        name: { type: 'string' },
        more: { type: 'object' },
      },
    };
    const { rest } = await renderWeb(<ActionForm name="dice" manifest={{ parameters }} />, {
      replies: { actionCalls: { call: () => output } },
    });
    screen.getByText('How many dice.');
    await click('Run');
    expect(screen.getByLabelText(/^count/)).toHaveProperty('validity.valueMissing', true);
    write(/^count/, '3');
    write(/^color/, 'blue');
    write(/^loaded/, 'false');
    write(/^more/, '{"a": [1]}');
    await click('Run');
    await screen.findByText('Sum: 9');
    expect(rest.bodiesOf('actionCalls.call')).toEqual([
      { count: 3, color: 'blue', loaded: false, more: { a: [1] } },
    ]);
  });

  it('sends a list of arguments for an action without parameters of its own', async () => {
    const { rest } = await renderWeb(<ActionForm name="dice" manifest={{}} />, {
      replies: { actionCalls: { call: () => output } },
    });
    await screen.findByLabelText(/^args/);
    write(/^args/, '3\n6');
    await click('Run');
    await waitFor(() => expect(rest.bodiesOf('actionCalls.call')).toEqual([{ args: ['3', '6'] }]));
  });
});

it('offers the examples that come with Belay', async () => {
  const found = {
    id: 'f',
    from: 'the examples',
    version: null,
    commit: null,
    actions: [],
    faults: [],
  };
  const { rest } = await renderWeb(<ActionsPage />, {
    replies: { actions: { list: () => [], findExamples: () => found } },
  });
  await screen.findByText('No actions');
  await click('Install action');
  await click('Show the examples');
  await screen.findByText('the examples');
  expect(rest.sentTo('actions.findExamples')).toHaveLength(1);
});
