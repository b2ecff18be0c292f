import 'reflect-metadata';
import { createPrivateKey, KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A certificate with its private key, both as PEM. */
export interface CertifiedKey {
  certificate: string;
  key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** Clocks of nodes differ, and a server may run for years: pods trust nothing but this authority, as long as it is kept. */
const validFrom = new Date('2026-01-01T00:00:00Z');
const validUntil = new Date('2099-12-31T00:00:00Z');

/** A new authority, which the pods of one server trust for its port for agents, and nothing else. */
export async function newAuthority(): Promise<CertifiedKey> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Belay agents',
    keys,
    notBefore: validFrom,
    notAfter: validUntil,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    ],
  });
  return certified(certificate, keys.privateKey);
}

/** The authority’s certificate for a server at this host, an address or a name. */
export async function certify(authority: CertifiedKey, host: string): Promise<CertifiedKey> {
  const issuer = new X509Certificate(authority.certificate);
  const signingKey = await webcrypto.subtle.importKey(
    'pkcs8',
    createPrivateKey(authority.key).export({ type: 'pkcs8', format: 'der' }),
    algorithm,
    false,
    ['sign'],
  );
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=Belay',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    notBefore: validFrom,
    notAfter: validUntil,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: isIP(host) > 0 ? 'ip' : 'dns', value: host }]),
    ],
  });
  return certified(certificate, keys.privateKey);
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const certified = (certificate: X509Certificate, key: webcrypto.CryptoKey): CertifiedKey => ({
  certificate: certificate.toString('pem'),
  key: KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString(),
});
