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
    await click('Change OpenAI');
    expect(screen.getByLabelText(/^API key/)).toHaveProperty('value', '');
    expect(document.body.innerHTML).not.toContain('sk-secret');
  });

  it('asks for the key of another URL, and clears the URL', async () => {
    const before = provider({ key: 'saved', url: 'https://proxy.example/v1' });
    const { rest } = await show(before, () => [before]);
    await click('Change OpenAI');
    expect(screen.queryByText(/The key belongs to the earlier address/)).toBeNull();
    write(/^Base URL/, 'https://other.example/v1');
    await screen.findByText(/The key belongs to the earlier address/);
    await click('Save');
    await screen.findByRole('button', { name: 'Change OpenAI' });
    await click('Change OpenAI');
    write(/^Base URL/, '');
    await click('Save');
    await waitFor(() =>
      expect(rest.bodiesOf('models.setProvider')).toEqual([
        { url: 'https://other.example/v1' },
        { url: null },
      ]),
    );
  });

  it('shows what a refused setting was tried with, and saves it anyway', async () => {
    const { rest } = await renderWeb(<ModelSettings />, {
      replies: {
        models: {
          list: () => [],
          providers: () => [provider()],
          setProvider: ({ body }) => {
            if (body.unchecked) return [provider({ key: 'saved' })];
            throw new AppError('model_failed', 'openai refused the key.');
          },
        },
      },
    });
    await click('Add key to OpenAI');
    write(/^API key/, 'sk-wrong');
    await click('Save');
    expect((await screen.findByRole('alert')).textContent).toBe(
      'Not saved: openai refused the key.',
    );
    expect(screen.getByLabelText(/^API key/)).toHaveProperty('value', 'sk-wrong');
    screen.getByText('No key is set.');
    await click('Save anyway');
    await screen.findByText('A key is saved.');
    expect(rest.bodiesOf('models.setProvider')).toEqual([
      { key: 'sk-wrong' },
      { key: 'sk-wrong', unchecked: true },
    ]);
  });

  it('adds several servers with names of their own, and removes one', async () => {
    const servers = new Map([['ollama', 'http://127.0.0.1:11434/v1']]);
    const listed = () => [...servers].map(([name, url]) => provider({ name, url }));
    const { rest } = await renderWeb(<ModelSettings />, {
      replies: {
        models: {
          list: () => [],
          providers: listed,
          setProvider: ({ params, body }) => {
            if (body.url) servers.set(params.provider, body.url);
            else servers.delete(params.provider);
            return listed();
          },
        },
      },
    });
    await click('Add a model server');
    write(/^Name/, 'ollama');
    write(/^Base URL/, 'https://openrouter.ai/api/v1');
    expect(screen.getByLabelText(/^Name/)).toHaveProperty(
      'validationMessage',
      'This name is taken.',
    );
    write(/^Name/, 'openrouter');
    write(/^API key/, 'k');
    await click('Save');
    await screen.findByRole('region', { name: 'openrouter' });
    expect(rest.sentTo('models.setProvider')).toMatchObject([
      {
        params: { provider: 'openrouter' },
        body: { key: 'k', url: 'https://openrouter.ai/api/v1' },
      },
    ]);
    await click('Change ollama');
    await click('Remove');
    await waitFor(() => expect(screen.queryByRole('region', { name: 'ollama' })).toBeNull());
    screen.getByRole('region', { name: 'openrouter' });
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
    await click('Change OpenAI');
    await click('Remove key');
    await screen.findByText('The key comes from the server’s environment.');
    expect(rest.bodiesOf('models.setProvider')).toEqual([{ key: null }]);
    await click('Change OpenAI');
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
