import { openedPreview, previewRequest } from '../preview.js';
import { route } from './route.js';

/** Pages served by programs of a session, in the user’s browser. */
export const sessionPreviewRoutes = {
  preview: route({
    method: 'POST',
    path: '/api/sessions/:id/preview',
    summary: 'Creates a URL that shows what a port of the sandbox serves, on an origin of its own',
    body: previewRequest,
    response: openedPreview,
  }),
};
