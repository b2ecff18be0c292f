import { TestServer } from '../../testing/server.js';

describe('attacks: an application that says who it is', () => {
  const server = new TestServer();
  beforeAll(() => server.start());
  afterAll(() => server.close());

  async function pageFor(redirect: string): Promise<string> {
    const registered = await server.fetch('/oauth/register', {
      method: 'POST',
      token: '',
      body: JSON.stringify({ redirect_uris: [redirect], client_name: 'Claude' }),
      headers: { 'content-type': 'application/json' },
    });
    const { client_id: id } = (await registered.json()) as { client_id: string };
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: id,
      redirect_uri: redirect,
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    });
    const page = await server.fetch(`/oauth/authorize?${query.toString()}`, { token: '' });
    return page.text();
  }

  it('is shown with the whole origin that gets the answer', async () => {
    expect(await pageFor('https://claude.ai/cb')).toContain('<code>https://claude.ai</code>');
    expect(await pageFor('http://127.0.0.1:4711/cb')).toContain(
      '<code>http://127.0.0.1:4711</code>',
    );
    expect(await pageFor('evil://claude.ai/cb')).toContain('<code>evil://claude.ai</code>');
  });

  it('is marked unless a website gets the answer', async () => {
    expect(await pageFor('https://claude.ai/cb')).not.toContain('not a website');
    expect(await pageFor('http://127.0.0.1:4711/cb')).toContain(
      'That is not a website. The answer goes to the program that listens there on your machine.',
    );
    expect(await pageFor('evil://claude.ai/cb')).toContain(
      'The answer goes to whichever program on your machine opens evil: addresses.',
    );
  });
});
