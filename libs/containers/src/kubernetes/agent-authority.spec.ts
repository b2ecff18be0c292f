import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { certify, newAuthority } from './agent-authority.js';

describe('the authority of the port for agents', () => {
  it.each(['192.0.2.1', '2001:db8::1', 'belay.example.com'])(
    'certifies the server at %s and nobody else',
    async (host) => {
      const authority = await newAuthority();
      const issuer = new X509Certificate(authority.certificate);
      const { certificate } = await certify(authority, host);
      const server = new X509Certificate(certificate);
      expect(issuer.ca).toBe(true);
      expect(server.ca).toBe(false);
      expect(server.checkIssued(issuer) && server.verify(issuer.publicKey)).toBe(true);
      const checked = (of: string) => (isIP(of) > 0 ? server.checkIP(of) : server.checkHost(of));
      expect(checked(host)).toBeDefined();
      expect(checked('192.0.2.2')).toBeUndefined();
      expect(checked('other.example.com')).toBeUndefined();
      const other = new X509Certificate((await newAuthority()).certificate);
      expect(server.verify(other.publicKey)).toBe(false);
    },
  );
});
