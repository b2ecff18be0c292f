import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./played-hosts.spec.js'));
