import { loopbackNames } from './loopback-names.js';

/** Variables with which programs in the sandbox use the proxy on loopback, except for loopback itself. */
export function proxyVariables(proxy: string): Record<string, string> {
  const direct = ['localhost', '127.0.0.1', '::1', ...loopbackNames()].join(',');
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: '1',
  };
}

/** Variables with which programs trust the host’s certificates, if the image does not set them. */
export function trustVariables(certificates: string): Record<string, string> {
  return {
    SSL_CERT_FILE: certificates,
    NODE_EXTRA_CA_CERTS: certificates,
    REQUESTS_CA_BUNDLE: certificates,
    PIP_CERT: certificates,
    CURL_CA_BUNDLE: certificates,
    GIT_SSL_CAINFO: certificates,
    CARGO_HTTP_CAINFO: certificates,
  };
}
