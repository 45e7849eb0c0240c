@Deprecated
package pkg;
