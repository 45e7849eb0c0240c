import java.math.BigInteger;
import org.bouncycastle.crypto.digests.SHA256Digest;
import org.bouncycastle.crypto.engines.AESEngine;
import org.bouncycastle.crypto.modes.GCMBlockCipher;
import org.bouncycastle.crypto.modes.GCMModeCipher;
import org.bouncycastle.crypto.params.AEADParameters;
import org.bouncycastle.crypto.params.KeyParameter;
import org.bouncycastle.jce.ECNamedCurveTable;
import org.bouncycastle.math.ec.ECPoint;

/** Hashes, encryption, and arithmetic on an elliptic curve, all in Java. */
public final class BouncyCastle implements Real.Program {
    private final byte[] text = new byte[4096];

    @Override
    public long round() throws Exception {
        long sum = 0;
        for (int i = 0; i < 40; i++) {
            SHA256Digest digest = new SHA256Digest();
            byte[] hash = new byte[32];
            digest.update(text, 0, text.length);
            digest.doFinal(hash, 0);
            GCMModeCipher cipher = GCMBlockCipher.newInstance(AESEngine.newInstance());
            cipher.init(true, new AEADParameters(new KeyParameter(hash, 0, 16), 128, new byte[12]));
            byte[] out = new byte[cipher.getOutputSize(text.length)];
            int length = cipher.processBytes(text, 0, text.length, out, 0);
            cipher.doFinal(out, length);
            sum = 31 * sum + hash[0] + out[i];
        }
        ECPoint point = ECNamedCurveTable.getParameterSpec("secp256k1").getG();
        for (int i = 1; i <= 20; i++) {
            point = point.multiply(BigInteger.valueOf(0x123456789abcdefL).multiply(BigInteger.valueOf(i))).normalize();
        }
        return sum + point.getAffineXCoord().toBigInteger().longValue();
    }
}
