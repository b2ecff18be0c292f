import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./session-relay.attacks.spec.js'));
