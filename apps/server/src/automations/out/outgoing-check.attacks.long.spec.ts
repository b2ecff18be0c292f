import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./outgoing-check.attacks.spec.js'));
