import { networkInterfaces } from 'node:os';
import { closeNetworks, isNetwork, isPublicAddress } from './public-address.js';

describe('addresses', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.0.1',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '0:0:0:0:0:ffff:a00:1',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fdff::1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.169.0.1',
    '198.20.0.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00::1',
    '2001:4860:4860::8888',
  ])('lets %s pass', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('refuses this machine’s own addresses', () => {
    for (const { address } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
      expect(isPublicAddress(address)).toBe(false);
    }
  });

  it('refuses networks that were closed, and nothing beside them', () => {
    const own = ['198.51.100.7', '198.51.101.0', '198.51.101.255', '2a01:4f8:1:2::1', '2a02::9'];
    const others = ['198.51.100.6', '198.51.102.0', '2a01:4f8:1:3::1', '2a02::8'];
    expect([...own, ...others].filter(isPublicAddress)).toEqual([...own, ...others]);
    closeNetworks(['198.51.100.7', '198.51.101.0/24', '2A01:4f8:1:2::/64', '2a02::9/128', 'x']);
    expect([...own, ...others].filter(isPublicAddress)).toEqual(others);
  });

  it.each([
    '',
    '1.2.3.4/33',
    '1.2.3/8',
    '::/129',
    '1.2.3.4/-1',
    '1.2.3.4/',
    'a.test',
    'fe80::1%eth0',
  ])('takes %s for no network', (text) => {
    expect(isNetwork(text)).toBe(false);
  });
});
