import { z } from 'zod';
import { endpointOf } from '../endpoint.js';
import { defineOperation, operationGroup } from '../operation.js';

export const webOperations = operationGroup({
  'web.fetch': defineOperation({
    title: 'Fetch a URL',
    description:
      'Fetches a URL over HTTP without a browser. Web pages are converted to readable text; other text is returned unchanged. Long responses come in pages: call again with `offset`.',
    risk: 'network',
    knownAs: 'fetch webfetch fetchurl fetchwebpage urlfetch browse',
    essential: true,
    input: z.object({
      url: z.url({ protocol: /^https?$/ }),
      method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']).default('GET'),
      headers: z.record(z.string(), z.string()).default({}),
      body: z.string().optional(),
      offset: z.int().nonnegative().default(0),
      timeout: z.number().positive().max(300).default(30),
    }),
    output: z.object({
      url: z.string().describe('The final URL, after redirects.'),
      status: z.int(),
      type: z.string(),
      text: z.string(),
      next: z.int().nonnegative().nullable(),
    }),
    subject: ({ url }) => endpointOf(url),
    summary: ({ url }) => url,
  }),
  'web.search': defineOperation({
    title: 'Search the web',
    description: 'Searches the web with the search service that is set up on the server.',
    risk: 'network',
    knownAs: 'googlewebsearch searchweb googlesearch bravesearch',
    input: z.object({
      query: z.string().min(1).max(500),
      limit: z.int().positive().max(20).default(8),
    }),
    output: z.object({
      results: z.array(z.object({ title: z.string(), url: z.string(), excerpt: z.string() })),
    }),
    subject: ({ query }) => query,
    needs: 'search',
  }),
});
