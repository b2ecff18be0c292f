import { fireEvent, screen, waitFor } from '@testing-library/react';
import { AppError, type ProviderSetup } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import type { RestReplies } from '@/testing/rest-stub';
import { ModelSettings } from './model-settings';

const provider = (part: Partial<ProviderSetup> = {}): ProviderSetup => ({
  name: 'openai',
  key: null,
  url: null,
  ...part,
});

const show = (
  before: ProviderSetup,
  setProvider: NonNullable<RestReplies['models']>['setProvider'],
) =>
  renderWeb(<ModelSettings />, {
    replies: { models: { list: () => [], providers: () => [before], setProvider } },
  });
const click = async (name: string) => fireEvent.click(await screen.findByRole('button', { name }));
const write = (label: RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

describe('the form for a provider’s key', () => {
  it('sends the key once and never shows it', async () => {
    const { rest } = await show(provider(), () => [provider({ key: 'saved' })]);
    await screen.findByText('No key is set.');
    await click('Add key to OpenAI');
    expect(screen.getByLabelText(/^API key/)).toMatchObject({
      type: 'password',
      autocomplete: 'off',
    });
    write(/^API key/, ' sk-secret ');
    await click('Save');
    await screen.findByText('A key is saved.');
    expect(rest.sentTo('models.setProvider')).toEqual([
      { params: { provider: 'openai' }, query: {}, body: { key: 'sk-secret' } },
    ]);
    expect(screen.queryByLabelText(/^API key/)).toBeNull();
    await click('Change key of OpenAI');
    expect(screen.getByLabelText(/^API key/)).toHaveProperty('value', '');
    expect(document.body.innerHTML).not.toContain('sk-secret');
  });

  it('keeps a saved key when only the URL changes, and clears the URL', async () => {
    const before = provider({ key: 'saved', url: 'https://proxy.example/v1' });
    const { rest } = await show(before, () => [before]);
    await click('Change key of OpenAI');
    write(/^Base URL/, 'https://other.example/v1');
    await click('Save');
    await screen.findByRole('button', { name: 'Change key of OpenAI' });
    await click('Change key of OpenAI');
    write(/^Base URL/, '');
    await click('Save');
    await waitFor(() =>
      expect(rest.bodiesOf('models.setProvider')).toEqual([
        { url: 'https://other.example/v1' },
        { url: null },
      ]),
    );
  });

  it('tests a new key and shows what is wrong with it', async () => {
    const tries = jest.fn(() => {
      throw new AppError('model_failed', 'OpenAI refused the key.');
    });
    const model = { name: 'openai:small', title: 'Small', ready: true, remedy: null };
    const saved = [provider({ key: 'saved' })];
    const { rest } = await renderWeb(<ModelSettings />, {
      replies: {
        models: {
          list: () => [model],
          providers: () => [provider()],
          setProvider: () => saved,
          try: tries,
        },
      },
    });
    await click('Add key to OpenAI');
    write(/^API key/, 'sk-wrong');
    await click('Save');
    expect((await screen.findByRole('alert')).textContent).toBe(
      'Saved, but a test call failed: OpenAI refused the key.',
    );
    expect(screen.getByLabelText(/^API key/)).toHaveProperty('value', 'sk-wrong');
    expect(rest.bodiesOf('models.try')).toEqual([{ model: 'openai:small' }]);
  });

  it('sends nothing with an invalid URL', async () => {
    const { rest } = await show(provider(), () => [provider()]);
    await click('Add key to OpenAI');
    write(/^Base URL/, 'localhost');
    await click('Save');
    expect(screen.getByLabelText(/^Base URL/)).toHaveProperty('validity.typeMismatch', true);
    expect(rest.sentTo('models.setProvider')).toEqual([]);
  });

  it('can remove only a saved key', async () => {
    const { rest } = await show(provider({ key: 'saved' }), () => [
      provider({ key: 'environment' }),
    ]);
    await click('Change key of OpenAI');
    await click('Remove key');
    await screen.findByText('The key comes from the server’s environment.');
    expect(rest.bodiesOf('models.setProvider')).toEqual([{ key: null }]);
    await click('Change key of OpenAI');
    expect(screen.queryByRole('button', { name: 'Remove key' })).toBeNull();
  });

  it('keeps the input and shows the error when the server refuses it', async () => {
    await show(provider(), () => {
      throw new AppError('disk_full', 'The key could not be saved. Free some disk space.');
    });
    await click('Add key to OpenAI');
    write(/^API key/, 'sk-secret');
    await click('Save');
    await screen.findByText('The key could not be saved. Free some disk space.');
    expect(screen.getByLabelText(/^API key/)).toHaveProperty('value', 'sk-secret');
  });
});
