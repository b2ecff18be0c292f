/** The body of an error of OpenAI’s APIs. */
export const openaiError = (status: number, message: string): object => ({
  error: {
    message,
    type:
      status === 429
        ? 'rate_limit_error'
        : status >= 500
          ? 'server_error'
          : 'invalid_request_error',
    param: null,
    code: 'belay',
  },
});
