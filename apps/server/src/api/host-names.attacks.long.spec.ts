import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./host-names.attacks.spec.js'));
