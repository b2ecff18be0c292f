import { z } from 'zod';
import { madeViewerLink, newViewerLink, viewerLink } from '../viewer-links.js';
import { nothing, route } from './route.js';

const access = 'operate';

/** Links to one session for those without an account. */
export const viewerLinkRoutes = {
  list: route({
    method: 'GET',
    path: '/api/sessions/:id/links',
    summary: 'Lists the links with which others can watch the session, without their secrets',
    response: z.array(viewerLink),
    access,
  }),
  create: route({
    method: 'POST',
    path: '/api/sessions/:id/links',
    summary:
      'Creates a link with which others can watch this session and nothing else, until it expires',
    body: newViewerLink,
    nameField: 'label',
    response: madeViewerLink,
    status: 201,
    access,
  }),
  revoke: route({
    method: 'DELETE',
    path: '/api/sessions/:id/links/:link',
    summary: 'Revokes a link immediately, also on open connections',
    response: nothing,
    access,
  }),
};
