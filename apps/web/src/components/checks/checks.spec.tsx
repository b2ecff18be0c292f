import { screen } from '@testing-library/react';
import { renderWeb } from '@/testing/render-web';
import { Checks } from './checks';

const check = { name: 'Docker', ok: true, detail: 'It runs.', remedy: null };
const model = (ready: boolean) => ({ name: 'openai:small', title: 'Small', ready, remedy: null });

const show = (ready: boolean) =>
  renderWeb(<Checks />, {
    replies: { server: { checks: () => [check] }, models: { list: () => [model(ready)] } },
  });

it('counts a missing model like any other check', async () => {
  await show(false);
  await screen.findByText('1 of 2 needs attention; start at the top.');
});

it('says that the machine is ready only if nothing is missing', async () => {
  await show(true);
  await screen.findByText('This machine is ready to run agents.');
});
