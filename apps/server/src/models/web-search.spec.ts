import { Config } from '../config.js';
import { ProviderServer, failedResponse } from './testing/provider-server.js';
import { WebSearch } from './web-search.js';

describe('web.search', () => {
  let server: ProviderServer;
  const search = (url?: string) => {
    const env = url === undefined ? {} : { BELAY_SEARCH_URL: url };
    return new WebSearch(new Config(env)).search({ query: 'größe & co', limit: 2 });
  };
  beforeEach(async () => {
    server = await ProviderServer.open();
  });
  afterEach(() => server.close());

  it('asks a SearXNG server for JSON and answers the first results', async () => {
    const results = [
      { title: 'One', url: 'https://one.example/', content: 'First' },
      { title: '', url: 'https://two.example/', content: null },
      { title: 'Three', url: 'https://three.example/', content: 'Third' },
    ];
    server.answer(failedResponse(200, { query: 'x', results }));
    expect(await search(`${server.url}/search?language=de`)).toEqual({
      results: [
        { title: 'One', url: 'https://one.example/', excerpt: 'First' },
        { title: 'https://two.example/', url: 'https://two.example/', excerpt: '' },
      ],
    });
    const asked = new URL(server.requests[0]?.path ?? '', server.url);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      language: 'de',
      q: 'größe & co',
      format: 'json',
    });
  });

  it('says what to set when nothing is set up, as no repetition helps', async () => {
    await expect(search(undefined)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/set BELAY_SEARCH_URL/) as string,
    });
  });

  it.each<[string, Parameters<typeof failedResponse>, RegExp]>([
    ['JSON is not allowed', [403, ''], /answered 403\. Allow the format json/],
    ['it fails', [500, ''], /answered 500\./],
    ['it answers a page', [200, '<html>'], /not SearXNG JSON/],
  ])('says what is wrong when %s', async (_case, answer, sentence) => {
    server.answer(failedResponse(...answer));
    await expect(search(`${server.url}/search`)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(sentence) as string,
    });
  });

  it('says when nothing listens there', async () => {
    const { url } = server;
    await server.close();
    await expect(search(url)).rejects.toThrow(/cannot be reached/);
    server = await ProviderServer.open();
  });
});
