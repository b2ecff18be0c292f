/**
 * Sends a request as `fetch` does, and reports the bytes that were sent, which `fetch` cannot. The
 * response is read as a whole.
 */
export function uploadFetch(onSent: (bytes: number) => void) {
  return (url: string, init: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(init.method ?? 'GET', url);
      request.responseType = 'arraybuffer';
      for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value);
      request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
      request.addEventListener('error', () => reject(new TypeError('The connection failed.')));
      request.addEventListener('load', () => {
        const { response, status, statusText } = request;
        resolve(
          new Response(status === 204 ? null : (response as ArrayBuffer), { status, statusText }),
        );
      });
      request.send(init.body as XMLHttpRequestBodyInit);
    });
}
