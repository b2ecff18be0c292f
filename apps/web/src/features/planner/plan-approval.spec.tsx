import { fireEvent, screen, waitFor } from '@testing-library/react';
import { AppError, newEvent, type ApprovalMode } from '@belay/protocol';
import { renderSession } from '@/testing/render-session';
import type { RestReplies } from '@/testing/rest-stub';
import { logOf, summaryWith } from '@/testing/session-log';
import { PlanPanel } from './plan-panel';

const show = (approvals: ApprovalMode, sessions: RestReplies['sessions'] = {}) =>
  renderSession(<PlanPanel />, {
    events: logOf(
      newEvent('agent', 'plan', { args: { markdown: '- [ ] Fix it' }, message: 'The plan' }),
    ),
    summary: { approvals },
    replies: {
      sessions: { change: () => summaryWith(), message: () => undefined, ...sessions },
    },
  });
const press = async (name: string) => fireEvent.click(await screen.findByRole('button', { name }));

describe('the approval of a plan', () => {
  it('lets the session change things, and tells the agent to begin', async () => {
    const { rest } = await show('plan');
    await press('Approve plan');
    await waitFor(() => expect(rest.bodiesOf('sessions.change')).toEqual([{ approvals: 'ask' }]));
    expect(rest.bodiesOf('sessions.message')).toEqual([
      { text: 'I approve this plan:\n\n- [ ] Fix it\n\nCarry it out.', delivery: 'steer' },
    ]);
  });

  it('sends the plan as the user changed it, and keeps it until it is sent', async () => {
    let isDown = true;
    const { rest } = await show('plan', {
      message: () => {
        if (isDown) throw new AppError('unavailable', 'No server answers.');
      },
    });
    await press('Edit…');
    const field = screen.getByRole('textbox', { name: 'The plan, to be changed' });
    fireEvent.change(field, { target: { value: '- [ ] Fix it and test it' } });
    await press('Approve this plan');
    await screen.findByText('No server answers.');
    expect(field).toHaveProperty('value', '- [ ] Fix it and test it');
    expect(rest.bodiesOf('sessions.change')).toEqual([]);
    isDown = false;
    await press('Approve this plan');
    await waitFor(() => expect(rest.bodiesOf('sessions.message')).toHaveLength(2));
    expect(rest.bodiesOf('sessions.message').at(-1)).toMatchObject({
      text: expect.stringContaining('- [ ] Fix it and test it'),
    });
  });

  it('is offered only in a session that plans first', async () => {
    await show('ask');
    await screen.findByText('Fix it');
    expect(screen.queryByRole('button', { name: 'Approve plan' })).toBeNull();
  });
});
